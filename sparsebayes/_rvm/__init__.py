"""What RVR and RVC share."""
