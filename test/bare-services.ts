/** What rooms of tests are given that are about something else: services that nothing there should ask for. */
import { join } from 'node:path'
import type { BlockServices } from '../src/blocks/block-services.ts'
import type { FlowsOptions } from '../src/flows/flows.ts'
import type { EndpointServices } from '../src/http/endpoints/custom-endpoints.ts'
import { assetFile } from '../src/http/replies/file-reply.ts'
import { openAssets } from '../src/records/assets/assets.ts'
import type { RecordContext } from '../src/records/records.ts'
import { openAssetFiles } from '../src/storage/assets/asset-files.ts'

function missing(name: string): never {
  throw new Error(`This test has no ${name}: give it one.`)
}

/** Services of blocks: another one than these throws when a block asks for it. */
export function blockServices(some: Partial<BlockServices>): BlockServices {
  const none = new Proxy({}, { get: (_, name) => missing(`services.${String(name)}`) })
  return Object.assign(Object.create(none), some)
}

/** Of runs. What is published has no subscriber. */
export const bareRunServices: Pick<FlowsOptions, 'services' | 'publish'> = {
  services: blockServices({}),
  publish: () => undefined,
}

type BareServices = Pick<EndpointServices, 'fileOf' | 'uploads' | 'rulesOf' | 'live'>

/** Of endpoints: files in a folder, no rules and no event streams. */
export async function bareEndpointServices(
  { records, newGuid }: { readonly records: RecordContext; readonly newGuid: () => string },
  directory: string,
): Promise<BareServices> {
  const assets = await openAssets(records, await openAssetFiles(join(directory, 'sent-files'), newGuid))
  return {
    fileOf: (asset) => assetFile(assets, asset),
    uploads: { assets, database: records.database, newGuid },
    rulesOf: () => [],
    live: {
      follow: () => missing('live'),
      subscribe: () => missing('live'),
      checkSubscriber: () => missing('live'),
      close: () => undefined,
    },
  }
}
