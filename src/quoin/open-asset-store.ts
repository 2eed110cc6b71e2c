import { join } from 'node:path'
import type { Options } from '../options/options.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { openAssetBucket } from '../storage/assets/asset-bucket.ts'
import { type AssetFiles, openAssetFiles } from '../storage/assets/asset-files.ts'
import { parseBucketUrl } from '../storage/assets/bucket-url.ts'

/** Where the settings say that uploaded files lie. `newName`: never gives the same twice. */
export async function openAssetStore(
  options: Options,
  newName: () => string,
  clock: Clock,
): Promise<AssetFiles> {
  if (options.assetsUrl !== '')
    return openAssetBucket({ address: parseBucketUrl(options.assetsUrl), newName, clock })
  const files = await openAssetFiles(join(options.data, 'assets'), newName)
  return options.databaseUrl === '' ? files : { ...files, receive: refuse }
}

/** On this node's disk the other nodes would not find it. */
async function refuse(): Promise<never> {
  throw new QuoinError(
    'UNAVAILABLE',
    'This cluster has no place for files. Set QUOIN_ASSETS_URL to s3://… on every node and start them again.',
  )
}
