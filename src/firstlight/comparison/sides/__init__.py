"""What every comparison needs: the arms, their inputs, and which method fits."""
