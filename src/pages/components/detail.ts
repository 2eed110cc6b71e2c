import { type ComponentChild, h } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import type { Drawing } from '../drawing.ts'
import type { ValueLook } from '../value-text.ts'
import { drawValue } from './value.ts'

interface Detail {
  readonly items: readonly (ValueLook & { readonly label: string; readonly value: JsonValue })[]
}

/** One document: what each field is called, and what it holds. */
export function detail({ items }: Detail, drawing: Drawing): ComponentChild {
  return h(
    'dl',
    { class: 'detail' },
    items.map((item) =>
      h('div', null, h('dt', null, item.label), h('dd', null, drawValue(item.value, item, drawing))),
    ),
  )
}
