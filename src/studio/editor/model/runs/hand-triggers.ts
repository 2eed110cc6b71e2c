/** What can be run by hand besides endpoints, and the input that its form begins with. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../shared/json.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import { parametersOf } from '../endpoints.ts'
import { type Flow, inPinOf } from '../flow.ts'
import { wordsOf } from '../words/block-labels.ts'

const handRun = ['page', 'function', 'storage', 'schedule', 'failure'] as const

export interface HandTrigger {
  readonly block: string
  readonly on: (typeof handRun)[number]
  readonly title: string
  readonly content: BlockContent
}

function isHandRun(on: string | null | undefined): on is HandTrigger['on'] {
  return handRun.some((one) => one === on)
}

/** In the order of the drawing: from top to bottom. */
export function handTriggersOf(flow: Flow, catalogue: Catalogue): HandTrigger[] {
  return [...flow]
    .flatMap(([block, content]): HandTrigger[] => {
      const on = catalogue.get(content.type)?.on
      if (!isHandRun(on)) return []
      return [{ block, on, title: wordsOf(flow, catalogue, block).title, content }]
    })
    .toSorted((a, b) => a.content.position.y - b.content.position.y)
}

/** `document`: the one that was chosen for a storage event. `now` in milliseconds. */
export function firstInput({ on, content }: HandTrigger, now: number, document?: JsonObject): JsonObject {
  if (on === 'function')
    return Object.fromEntries(content.custom_out_pins.map(({ id, type }) => [id, sampleOf(type)]))
  if (on === 'schedule') return { planned_at: new Date(now).toISOString() }
  if (on === 'page') return pageInput(content)
  const event = firstEvent(content)
  if (on === 'storage') return { ...(event !== '' && { event }), document: document ?? {} }
  return { ...(event !== '' && { event }), code: 'INTERNAL', message: modelTexts.runByHand }
}

function pageInput(content: BlockContent): JsonObject {
  const url = inPinOf(content, 'url')?.value
  const names = typeof url === 'string' ? parametersOf(url) : []
  return { params: Object.fromEntries(names.map((name) => [name, ''])), query: {} }
}

function firstEvent(content: BlockContent): string {
  const events = inPinOf(content, 'events')?.value
  const [first] = Array.isArray(events) ? events : []
  return typeof first === 'string' ? first : ''
}

/** The body that an endpoint's schema asks for; empty braces without a schema. */
export function sampleBody(content: BlockContent | undefined, uri = ''): JsonObject {
  const inPath = parametersOf(uri)
  const schema = content?.fields.schema
  const fields = Array.isArray(schema) ? schema.filter(isJsonObject) : []
  return Object.fromEntries(
    fields
      .filter(
        (field) => field.in === 'body' || (field.in === undefined && !inPath.includes(String(field.name))),
      )
      .map((field): [string, JsonValue] => [
        String(field.name),
        field.default ?? sampleOf(String(field.type)),
      ]),
  )
}

function sampleOf(type: string): JsonValue {
  if (type === 'number' || type === 'whole number') return 0
  if (type === 'condition') return false
  if (type.startsWith('array') || type === 'list') return []
  if (type === 'object' || type === 'document') return {}
  return ''
}
