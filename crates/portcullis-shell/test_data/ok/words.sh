echo plain 'single $x' "double $x ${y}" \$esc $'an\x73i\n' a"b"'c'\d
