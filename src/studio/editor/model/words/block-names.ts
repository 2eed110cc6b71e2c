import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { JsonValue } from '../../../../shared/json.ts'
import { RESOURCE_TYPE } from '../../../../shared/resource/resource.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf } from '../flow.ts'

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

/** A value as one short line. */
export function short(value: JsonValue | undefined, most = 60): string {
  if (value === undefined) return modelTexts.nothing
  return cut(typeof value === 'string' ? `“${value}”` : JSON.stringify(value), most)
}

/** A text as one line of at most so many characters. */
export function cut(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A message of the server with the names of blocks in place of their guids. */
export function readable(message: string, flow: Flow, catalogue: Catalogue): string {
  return message.replace(GUID, (guid) => {
    const content = flow.get(guid)
    return content ? `“${nameOf(content, catalogue)}”` : guid
  })
}
