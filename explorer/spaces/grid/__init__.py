"""Know images: values on a planar grid."""
