/** Blocks of pages in the file format, and browsers that look at them. */
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import type { ContractFixture } from './contract-fixture.ts'
import { setAll, storage } from './flow-blocks.ts'

type Pins = Readonly<Record<string, JsonValue>>

export const page = (url: string, scopes: readonly string[] = ['*public']): JsonObject => ({
  type: 'state_page',
  in: { url, title: `Page ${url}` },
  scopes,
})

export const show = (state: string, flow = '@page.flow', more: Pins = {}): JsonObject => ({
  type: 'state_render_page',
  in: { flow, state, ...more },
})

export const h1 = (text: string, more: Pins = {}): JsonObject => ({ type: 'state_h1', in: { text, ...more } })

export const input = (pins: Pins): JsonObject => ({ type: 'state_input_dynamic', in: pins })

export const form = (content: string, form_id = 'form', more: Pins = {}): JsonObject => ({
  type: 'state_form',
  in: { form_id, content, ...more },
})

/** Keeps what a form sends in the storage `kept`. */
export const keeping = (kept: string, values = '@form.values', flow = '@form.submit'): JsonObject => ({
  kept: storage(kept),
  fields: setAll(values),
  create: keep(flow, '@fields.mutations'),
})

export const keep = (flow: string, mutations: string): JsonObject => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@kept.storage', mutations },
})

/** A browser without JavaScript and without a signed-in user. */
export const stranger = (fixture: ContractFixture): Visitor => openVisitor(fixture.address)

export async function signedIn(fixture: ContractFixture, username: string): Promise<Visitor> {
  const visitor = stranger(fixture)
  visitor.setCookie('access_token', await fixture.tokenOf(username))
  return visitor
}
