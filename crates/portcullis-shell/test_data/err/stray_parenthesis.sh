a; b ) c; d
