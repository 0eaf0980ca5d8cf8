"""What a page may ask and have done: a module for each subject, whose tables `registry` puts together."""
