a \
  b\
c &\
& d
