-- The signed log has replaced the hashes over the feed.
DROP TABLE "feed_checkpoints";
