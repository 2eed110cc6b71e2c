import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { PageInput } from '../../shared/pages/page-input.ts'
import type { Drawing } from '../drawing.ts'
import { icon } from './icon.ts'

/** The ids of what describes an input, for `aria-describedby`; undefined when nothing does. */
export function describedBy(
  id: string,
  { help, error }: Pick<PageInput, 'help' | 'error'>,
): string | undefined {
  const ids = [help === undefined ? [] : `${id}-help`, error === undefined ? [] : `${id}-error`].flat()
  return ids.length === 0 ? undefined : ids.join(' ')
}

/** Label, help, control, error, in the order in which they are needed. `group`: several controls under one legend. */
export function field(
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
