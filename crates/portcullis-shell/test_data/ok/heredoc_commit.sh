git commit -m "$(cat <<'EOF'
It's "done" `here`
EOF
)" && git push
