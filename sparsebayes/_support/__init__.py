"""What every capability uses: checks, batches, files, reports. It knows no model."""
