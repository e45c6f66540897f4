"""Make what views of images draw beside the images themselves."""
