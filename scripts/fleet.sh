# Where the processes of the Procfile find each other, for each of its lines to
# source. Ports and paths may be set outside; the services are always those that
# are started here. POSIX sh, because process managers run the lines with sh.
UP_DIR=${UP_DIR:-.presswork/up}
REDIS_PORT=${REDIS_PORT:-6390}
export REDIS_URL="redis://127.0.0.1:$REDIS_PORT/0"
export S3_ENDPOINT="${S3_ENDPOINT:-127.0.0.1:9390}" S3_BUCKET=presswork S3_ACCESS_KEY=presswork S3_SECRET_KEY=presswork-secret
export MINIO_ROOT_USER="$S3_ACCESS_KEY" MINIO_ROOT_PASSWORD="$S3_SECRET_KEY"
PRESSWORK=${PRESSWORK:-bin/presswork}
if [ -z "${PRESSWORK_MINIO:-}" ]; then
  PRESSWORK_MINIO=${XDG_CACHE_HOME:-$HOME/.cache}/presswork/bin/minio-$(sed -n 's/^MINIO_VERSION := //p' Makefile)
fi
# What Redis and MinIO are run by; nothing where they are ended in order anyway.
OUTLAST=${OUTLAST-scripts/outlast.sh}
mkdir -p "$UP_DIR/redis" "$UP_DIR/minio" "$UP_DIR/users"
export UP_DIR
# uses NAME notes that this process, which becomes another program, needs both.
uses() { echo $$ >"$UP_DIR/users/$1"; }
