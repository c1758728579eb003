"""What something costs against its size."""
