import type { BlockContent } from '../../../../shared/blueprint.ts'
import { RESOURCE_TYPE } from '../../../../shared/resource/resource.ts'
import type { Catalogue } from '../block-description.ts'
import { inPinOf } from '../flow.ts'

const methods: Readonly<Record<string, string>> = {
  get: 'GET',
  post: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  any: 'ANY',
}

/** The method that a trigger of an endpoint registers; undefined for other blocks. */
export function methodOf(type: string): string | undefined {
  return methods[/^on_startup_register_uri_(\w+)$/.exec(type)?.[1] ?? '']
}

/** What a person calls the block: its title, else what kind of block it is. */
export function nameOf(content: BlockContent, catalogue: Catalogue): string {
  return content.title || subjectOf(content) || (catalogue.get(content.type)?.title ?? content.type)
}

/** What a block without a title is about, where one pin or setting says it: `GET tasks`, `tasks`. */
export function subjectOf(content: BlockContent): string {
  const method = methodOf(content.type)
  if (method !== undefined) {
    const uri = inPinOf(content, 'uri')?.value
    return typeof uri === 'string' && uri !== '' ? `${method} /${uri}` : ''
  }
  if (content.type === RESOURCE_TYPE) {
    const uri = inPinOf(content, 'uri')?.value
    return typeof uri === 'string' && uri !== '' ? `API /${uri}` : ''
  }
  const named = content.type === 'storage' ? content.fields.storage : undefined
  return typeof named === 'string' ? named : ''
}
