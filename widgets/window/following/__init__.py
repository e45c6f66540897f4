"""Follow what a person does: choosing, playing, recording, saving files elsewhere."""
