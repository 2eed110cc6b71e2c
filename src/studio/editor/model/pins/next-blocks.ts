/** The blocks that most flows have next, for the top of a list that is otherwise in the order of the alphabet. */
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf, type PinPlace } from '../flow.ts'

const reply = 'httpconnection_set_json'
const create = 'function_create_document_from_mutations'
const update = 'function_update_document_mutations'

/** Right behind a trigger of a type. */
const behindType: Readonly<Record<string, readonly string[]>> = {
  on_startup_register_uri_get: [reply, 'function_search', 'function_get_document', 'function_aggregate'],
  on_startup_register_uri_post: [create, 'ensure', reply, 'http_request'],
  on_startup_register_uri_put: ['function_upsert_document', update, 'ensure', reply],
  on_startup_register_uri_patch: [update, 'ensure', reply],
  on_startup_register_uri_delete: ['function_remove_document', reply],
}

/** Further on, and behind other triggers, by what starts the run. */
const behindKind: Readonly<Record<string, readonly string[]>> = {
  http: [reply, 'ensure', 'branch', 'function_search', 'http_request'],
  page: ['state_render_page', 'function_search', 'function_get_document', 'state_redirect'],
  schedule: ['function_search', 'http_request', 'send_mail', 'write_rows'],
  storage: ['send_mail', 'http_request', update, 'function_search'],
  failure: ['send_mail', 'http_request', create, 'function_console_log'],
  function: ['function_return', 'function_search', create, update],
}

/** Identifiers, the likeliest first; none where nothing starts the flow yet. */
export function nextBlocks(flow: Flow, catalogue: Catalogue, { block }: PinPlace): readonly string[] {
  const trigger = triggerOf(flow, catalogue, block)
  const type = flow.get(trigger)?.type ?? ''
  const own = trigger === block ? behindType[type] : undefined
  return own ?? behindKind[catalogue.get(type)?.on ?? ''] ?? []
}

function triggerOf(flow: Flow, catalogue: Catalogue, start: string): string {
  const seen = new Set<string>()
  let at = start
  while (!seen.has(at)) {
    seen.add(at)
    const content = flow.get(at)
    const before = inPinOf(content, 'flow')?.from?.[0]?.block
    if (!content || catalogue.get(content.type)?.kind === 'trigger' || before === undefined) return at
    at = before
  }
  return at
}
