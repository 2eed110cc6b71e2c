/**
 * Where a Quoin of the tests keeps uploads: the embedded engine on its disk; on PostgreSQL, where a node keeps none, in a
 * bucket of an S3 server in this process.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inject, vi } from 'vitest'
import { openBucket, openS3Server, type S3Server, type TestBucket } from './s3-server.ts'

export interface AssetPlace {
  /** Environment variables for the Quoin. */
  readonly settings: Readonly<Record<string, string>>
  /** Names of the files there are, for the Quoin in this directory. */
  files(directory: string): Promise<string[]>
  close(): Promise<void>
}

export async function openAssetPlace(): Promise<AssetPlace> {
  if (inject('engine') === 'sqlite') return { settings: {}, files: filesOnDisk, close: async () => undefined }
  const server = await openS3Server()
  const bucket = await openBucket(server, 'assets')
  stubCredentials(server)
  return {
    settings: { QUOIN_ASSETS_URL: bucket.url },
    files: () => filesIn(bucket),
    async close() {
      vi.unstubAllEnvs()
      bucket.close()
      await server.close()
    },
  }
}

/** Where the client library looks for them. `vi.unstubAllEnvs()` takes them away again. */
export function stubCredentials({ accessKeyId, secretAccessKey }: Omit<S3Server, 'close'>): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey)
}

/** Names of the files of all assets on the disk of the Quoin in this directory. */
export async function filesOnDisk(directory: string): Promise<string[]> {
  const entries = await readdir(join(directory, 'assets'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

async function filesIn(bucket: TestBucket): Promise<string[]> {
  const unfinished = Array.from({ length: await bucket.unfinished() }, () => 'unfinished')
  return [...(await bucket.keys()), ...unfinished]
}
