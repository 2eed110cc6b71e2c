import type * as S3 from '@aws-sdk/client-s3'

export interface LeftOvers {
  readonly s3: typeof S3
  readonly client: S3.S3Client
  readonly bucket: string
  /** Of what is being received. */
  readonly prefix: string
  readonly now: number
}

/** Longer than any upload takes, and far more than clocks differ. */
const TOO_OLD_MS = 24 * 60 * 60 * 1000

/** Deletes what nodes were receiving when they died: whole objects, and parts of unfinished ones. */
export async function clearLeftOvers({ s3, client, bucket, prefix, now }: LeftOvers): Promise<void> {
  const isOld = (time: Date | undefined) => time !== undefined && time.getTime() < now - TOO_OLD_MS
  const where = { Bucket: bucket, Prefix: prefix }
  for await (const page of s3.paginateListObjectsV2({ client }, where))
    for (const { Key, LastModified } of page.Contents ?? [])
      if (Key?.startsWith(prefix) && isOld(LastModified))
        await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key }))

  let after: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } = {}
  for (;;) {
    const page = await client.send(new s3.ListMultipartUploadsCommand({ ...where, ...after }))
    for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
      if (Key?.startsWith(prefix) && isOld(Initiated))
        await client.send(new s3.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    if (!page.IsTruncated) return
    after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
  }
}
