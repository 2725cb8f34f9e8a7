case $x in
  a | b) c ;;
  (*.txt) d ;&
  *) e ;;&
esac
