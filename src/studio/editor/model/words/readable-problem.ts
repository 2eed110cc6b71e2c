import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { nameOf } from './block-names.ts'

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A message of the server with the names of blocks in place of their guids. */
export function readable(message: string, flow: Flow, catalogue: Catalogue): string {
  return message.replace(GUID, (guid) => {
    const content = flow.get(guid)
    return content ? `“${nameOf(content, catalogue)}”` : guid
  })
}
