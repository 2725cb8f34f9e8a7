echo x=(a b)
