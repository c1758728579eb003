"""What is packed becomes records: compressed files, tar and zip, each as far as it goes."""
