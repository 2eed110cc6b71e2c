/** Inputs of a form, one HTML control (or group of them) for each type of `PageInput`. */
import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { JsonValue } from '../../shared/json.ts'
import type { InputOption, InputType, PageInput } from '../../shared/pages/page-input.ts'
import type { Drawing } from '../drawing.ts'
import { icon } from './icon.ts'

const htmlTypes: Readonly<Partial<Record<InputType, string>>> = {
  date_time: 'datetime-local',
  number: 'number',
  date: 'date',
  email: 'email',
  password: 'password',
  file: 'file',
}

/** More options than this are a list to open, fewer are all seen. */
const MANY = 6

export function input(node: PageInput, drawing: Drawing): ComponentChild {
  const id = node.id ?? drawing.id(`input-${node.name}`)
  switch (node.type) {
    case 'hidden':
      return h('input', { type: 'hidden', name: node.name, value: textOf(node.value) })
    case 'check':
      return check(id, node)
    case 'choices':
      return field(id, node, drawing, ticks(id, node), true)
    case 'choice':
      return field(id, node, drawing, select(id, node, drawing))
    case 'area':
      return field(id, node, drawing, h('textarea', { ...attributes(id, node), rows: 5 }, textOf(node.value)))
    default:
      return field(id, node, drawing, h('input', { ...attributes(id, node), ...typed(node) }))
  }
}

function attributes(id: string, node: PageInput): Record<string, unknown> {
  const { name, required, disabled, error, placeholder, autocomplete, minLength, maxLength } = node
  return {
    id,
    name,
    class: 'control',
    required,
    disabled,
    placeholder,
    autocomplete: autocomplete ?? (node.type === 'password' ? 'current-password' : undefined),
    minLength,
    maxLength,
    'aria-invalid': error === undefined ? undefined : 'true',
    'aria-describedby': describedBy(id, node),
  }
}

function typed(node: PageInput): Record<string, unknown> {
  const { type, min, max, step, accept, multiple } = node
  // What was typed into these is never sent back.
  const value = type === 'password' || type === 'file' ? undefined : textOf(node.value)
  return { type: htmlTypes[type] ?? 'text', value, min, max, step, accept, multiple }
}

function check(id: string, node: PageInput): ComponentChild {
  const { label, name, help, error, required, disabled } = node
  const box = {
    type: 'checkbox',
    id,
    name,
    value: 'on',
    checked: node.value === true,
    required,
    disabled,
    'aria-invalid': error === undefined ? undefined : 'true',
    'aria-describedby': describedBy(id, node),
  }
  return h(
    'div',
    { class: 'field' },
    h('label', { class: 'tick', for: id }, h('input', box), h('span', null, label)),
    help === undefined ? null : h('p', { class: 'help', id: `${id}-help` }, help),
    error === undefined
      ? null
      : h('p', { class: 'error', id: `${id}-error` }, icon('danger'), h('span', null, error)),
  )
}

function ticks(id: string, node: PageInput): ComponentChildren {
  const chosen = listOf(node.value)
  const { name, options = [], disabled } = node
  const boxes = options.map(({ value, label }, at) =>
    h(
      'label',
      { class: 'tick', for: `${id}-${at}` },
      h('input', {
        type: 'checkbox',
        id: `${id}-${at}`,
        name,
        value,
        checked: chosen.includes(value),
        disabled,
      }),
      h('span', null, label),
    ),
  )
  return h('div', { class: options.length > MANY ? 'ticks many' : 'ticks' }, boxes)
}

function select(id: string, node: PageInput, { say }: Drawing): ComponentChild {
  const chosen = textOf(node.value)
  const options = node.options ?? []
  const unknown = chosen !== '' && !options.some(({ value }) => value === chosen)
  const shown: readonly InputOption[] = [
    // Also when one is required: nothing is chosen for people.
    ...(options.some(({ value }) => value === '')
      ? []
      : [{ value: '', label: node.placeholder ?? say('form.choose') }]),
    ...options,
    ...(unknown ? [{ value: chosen, label: chosen }] : []),
  ]
  return h(
    'select',
    { ...attributes(id, node), placeholder: undefined },
    shown.map(({ value, label }) => h('option', { value, selected: value === chosen }, label)),
  )
}

function listOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null || value === '') return []
  return Array.isArray(value) ? value.map((one: JsonValue) => textOf(one)) : [textOf(value)]
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The ids of what describes an input, for `aria-describedby`; undefined when nothing does. */
function describedBy(id: string, { help, error }: Pick<PageInput, 'help' | 'error'>): string | undefined {
  const ids = [help === undefined ? [] : `${id}-help`, error === undefined ? [] : `${id}-error`].flat()
  return ids.length === 0 ? undefined : ids.join(' ')
}

/** Label, help, control, error, in the order in which they are needed. `group`: several controls under one legend. */
function field(
  id: string,
  input: PageInput,
  drawing: Drawing,
  control: ComponentChildren,
  group = false,
): ComponentChild {
  const { label, help, error, required, disabled } = input
  const words: ComponentChildren = [
    label,
    required || disabled ? null : [' ', h('span', { class: 'optional' }, drawing.say('form.optional'))],
  ]
  const notes = [
    help === undefined ? null : h('p', { class: 'help', id: `${id}-help` }, help),
    error === undefined
      ? null
      : h('p', { class: 'error', id: `${id}-error` }, icon('danger'), h('span', null, error)),
  ]
  if (!group) return h('div', { class: 'field' }, h('label', { for: id }, words), notes, control)
  return h(
    'fieldset',
    { class: 'field', id, tabIndex: -1, 'aria-describedby': describedBy(id, input) },
    h('legend', null, words),
    notes,
    control,
  )
}
