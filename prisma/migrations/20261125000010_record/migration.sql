-- running hashes of the contracts' logs up to the checkpoint, which names their block
ALTER TABLE chains ADD COLUMN record BYTEA;
