/** What the examples do not use, in the format of blueprint files: constraints, sorted texts, `let`, waits, approvals, late failures. */
import type { JsonObject } from '../../../src/shared/json.ts'

export const kindsStorage = 'fuzz_kinds'

/** Fields whose values differ from what is sent, or are ordered and compared in their own way. */
export const kindsFields: readonly JsonObject[] = [
  { storage: kindsStorage, name: 'title', type: 'text', collation: 'sv', unique: true },
  { storage: kindsStorage, name: 'start', type: 'date' },
  { storage: kindsStorage, name: 'end', type: 'date' },
  { storage: kindsStorage, name: 'at', type: 'instant' },
]

export const kindsConstraint: JsonObject = {
  rule: 'doc.end >= doc.start',
  message: 'The end must not be before the start.',
  field: 'end',
}

const open = { scopes: ['*public'] }
const on = (method: string, uri: string): JsonObject => ({
  ...{ type: `on_startup_register_uri_${method}`, in: { uri }, ...open },
})
const reply = (flow: string, value: string): JsonObject => ({ type: 'reply', in: { flow, value } })
const creates = (flow: string, set = '=body'): JsonObject => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: kindsStorage, set },
})

export const kindsBlueprint = {
  name: 'Kinds',
  blocks: {
    kinds: { type: 'on_startup_register_resource', in: { uri: 'kinds', storage: kindsStorage }, ...open },

    put: on('put', 'kinds-by-title'),
    upsert: {
      type: 'function_upsert_document',
      in: { flow: '@put.flow', storage: kindsStorage, by: ['title'], set: '=body' },
    },
    put_reply: reply('@upsert.flow', '=upsert.document'),

    find: on('get', 'kinds-found'),
    found: {
      type: 'function_search',
      in: {
        ...{ flow: '@find.flow', storage: kindsStorage, limit: 20 },
        ...{ where: '=contains(lower(doc.title), lower(query.text))', sort: 'title, _meta.created desc' },
      },
    },
    find_reply: reply('@found.flow', '=found.documents'),

    part: on('post', 'kinds-part'),
    part_reply: reply(
      '@part.flow',
      '=let title = text(body.title);\nlet short = title.slice(0, 3);\nshort + title',
    ),

    wait: on('post', 'kinds-wait'),
    waiting: { type: 'wait', in: { flow: '@wait.flow', for: '1h' } },
    waited: creates('@waiting.flow'),

    ask: on('post', 'kinds-ask'),
    asked: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: 'Kind', for: '1h' } },
    ask_reply: reply('@asked.now', '=asked.link'),
    approved: creates('@asked.approved'),

    late: on('post', 'kinds-late'),
    late_reply: reply('@late.flow', 'taken'),
    late_made: creates('@late_reply.flow'),
    late_failure: { type: 'fail', in: { flow: '@late_made.flow', status: 502, message: 'Broken.' } },
  },
} satisfies JsonObject
