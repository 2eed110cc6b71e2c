import { expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import { messagesFor } from '../../pages/messages.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import type { PageForm } from '../../shared/pages/page-content.ts'
import { readForm } from './read-form.ts'

function errorsOf(fields: Readonly<Record<string, FieldLimits>>, sent: Readonly<Record<string, string>>) {
  const form: PageForm = {
    kind: 'form',
    id: 'edit',
    block: 'b',
    content: Object.keys(fields).map((name) => ({ kind: 'input', name, label: name, type: 'area' })),
  }
  const posted = {
    all: (name: string) => [sent[name] ?? ''],
    first: (name: string) => sent[name],
    names: () => Object.keys(sent),
    files: [],
  }
  const ruleOf = (name: string): FieldRule => ({
    name,
    storage: 'tasks',
    type: 'long_text',
    required: false,
    defaultValue: undefined,
    limits: fields[name] ?? {},
  })
  const { errors } = readForm(form, posted, (_, { name }) => ruleOf(name), {
    messages: messagesFor('en'),
    timeZone: 'UTC',
  })
  return Object.fromEntries(errors)
}

test('a text that is too long for its pattern is told how long it may be', () => {
  expect(errorsOf({ code: { pattern: 'a' } }, { code: 'a'.repeat(4_001) })).toEqual({
    code: 'Enter at most 4,000 characters.',
  })
})

test('the patterns of a form have one budget together, and those of the next form another', () => {
  const limits = { pattern: hardPattern(70) }
  const send = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `f${at}`)
    return Object.values(
      errorsOf(
        Object.fromEntries(names.map((name) => [name, limits])),
        Object.fromEntries(names.map((name) => [name, `${lettersInDisorder(3_000)}${'a'.repeat(71)}`])),
      ),
    )
  }
  expect(send(1)).toEqual([])
  expect(send(10)).toContain('The text is too long to be checked. Enter a shorter one.')
  expect(send(2)).toEqual([])
})
