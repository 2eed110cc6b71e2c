/** What the cluster serves while it is stormed at, in the format of blueprint files. */
import type { JsonObject } from '../../src/shared/json.ts'

export const noteStorage = 'storm_notes'
export const handledStorage = 'storm_handled'
export const tickedStorage = 'storm_ticked'
/** What the switch answers while it is on. */
const switchReply = 'on'

/** Creates notes and hands each to the queue in the same transaction; reads one; lists the newest. */
export const notesBlueprint: JsonObject = {
  name: 'Notes',
  blocks: {
    notes: { type: 'storage', fields: { storage: noteStorage } },
    handled: { type: 'storage', fields: { storage: handledStorage } },

    create: { type: 'on_startup_register_uri_post', in: { uri: 'notes' }, scopes: ['*public'] },
    create_fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@create.body' } },
    create_document: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@create.flow', storage: '@notes.storage', mutations: '@create_fields.mutations' },
    },
    create_later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@create_document.flow', function: 'handle', note: '@create_document.document' },
      fields: { parameters: ['note'] },
    },
    create_reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@create_later.flow', code: 201, value: '@create_document.document' },
    },

    handle: {
      type: 'trigger_custom_function',
      fields: { name: 'handle' },
      out: [
        { id: 'note', type: 'object' },
        { id: 'job', type: 'value' },
      ],
    },
    handle_note: {
      type: 'object_update_fields',
      in: { object: '@handle.note' },
      fields: { out_fields: ['_meta'] },
    },
    handle_meta: {
      type: 'object_update_fields',
      in: { object: '@handle_note._meta' },
      fields: { out_fields: ['guid'] },
    },
    handle_fields: {
      type: 'mutations_set_bp_field_multiple',
      in: { note: '@handle_meta.guid', job: '@handle.job' },
      fields: { fields: ['note', 'job'] },
    },
    handle_store: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@handle.flow', storage: '@handled.storage', mutations: '@handle_fields.mutations' },
    },

    read: { type: 'on_startup_register_uri_get', in: { uri: 'notes/{guid}' }, scopes: ['*public'] },
    read_guid: {
      type: 'httpconnection_get_params',
      in: { connection: '@read.connection', field: 'guid' },
    },
    read_document: {
      type: 'function_get_document',
      in: { flow: '@read.flow', storage: '@notes.storage', guid: '@read_guid.value' },
    },
    read_reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@read_document.flow', value: '@read_document.document' },
    },
    read_unknown: {
      type: 'httpconnection_set_json',
      in: { flow: '@read_document.not_found', code: 404 },
    },

    list: { type: 'on_startup_register_uri_get', in: { uri: 'notes' }, scopes: ['*public'] },
    list_search: {
      type: 'function_search',
      in: { flow: '@list.flow', storage: '@notes.storage', limit: 10 },
    },
    list_reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@list_search.flow', value: '@list_search.documents' },
    },
  },
}

/** A constant reply, which is switched on and off. */
export const switchBlueprint: JsonObject = {
  name: 'Switch',
  blocks: {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'switch' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: switchReply } },
  },
}

/** Schedules that fire each second, whatever happens, and write a document for each tick. */
export function schedulesBlueprint(schedules: number): JsonObject {
  const blocks: JsonObject = { ticked: { type: 'storage', fields: { storage: tickedStorage } } }
  const each = Array.from({ length: schedules }, (_, number) => scheduleBlocks(`s${number}`))
  return { name: 'Schedules', blocks: Object.assign(blocks, ...each) }
}

function scheduleBlocks(id: string): JsonObject {
  return {
    [id]: {
      type: 'schedule_repeating_event',
      in: { every: '1s', overlap: 'allow', catch_up: 'all' },
    },
    [`${id}_fields`]: {
      type: 'mutations_set_bp_field_multiple',
      in: { job: `@${id}.tick` },
      fields: { fields: ['job'] },
    },
    [`${id}_store`]: {
      type: 'function_create_document_from_mutations',
      in: { flow: `@${id}.flow`, storage: '@ticked.storage', mutations: `@${id}_fields.mutations` },
    },
  }
}
