import { describe, expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import { messagesFor } from '../../pages/messages.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { FieldLimits } from '../../shared/fields/field-limits.ts'
import { type FieldType, fieldTypeEntries, fieldTypes } from '../../shared/fields/field-type.ts'
import type { PageForm } from '../../shared/pages/page-content.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { inputWithRules } from './input-rule.ts'
import { readForm, readInput } from './read-form.ts'

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

describe('a wrong value of each type of field is told in a sentence of its own', () => {
  /** What is typed, and what is said; undefined where no text is wrong. */
  const said: Readonly<Record<FieldType, readonly [typed: string, message: string] | undefined>> = {
    string: undefined,
    long_text: undefined,
    array: undefined,
    line: ['a\nb', 'Enter one line, without line breaks.'],
    number: ['five', 'Enter a number.'],
    integer: ['1.5', 'Enter a whole number.'],
    decimal: ['1.005', 'Enter a number with at most 2 decimal places.'],
    autonumber: ['1.5', 'Enter a whole number.'],
    boolean: ['perhaps', 'Choose yes or no.'],
    date: ['31.1.2026', 'Enter a date.'],
    day: ['2026-02-30', 'Enter a date.'],
    instant: ['noon', 'Enter a date and a time.'],
    choice: ['b', 'Choose one of the options.'],
    choices: ['b', 'Choose one of the options.'],
    email: ['ann', 'Enter an e-mail address, such as name@example.com.'],
    url: ['example', 'Enter a web address such as https://example.com.'],
    phone: ['call me', 'Enter a phone number such as +49 30 123456.'],
    object: ['[1]', 'Enter an object as JSON, such as {"a": 1}.'],
    list: ['1\nx', 'This cannot be used: it has an item 2 that must be a whole number.'],
    reference: ['x', 'Choose a document from the list.'],
    file: ['x', 'Choose a file.'],
    files: ['x', 'Choose a file.'],
    created_by: ['x', 'Enter an object as JSON, such as {"a": 1}.'],
    changed_by: ['{}', 'Enter an object as JSON, such as {"a": 1}.'],
  }
  const limits: FieldLimits = { choices: ['a'], items: 'integer' }

  function errorOf(
    type: FieldType,
    input: 'text' | 'area',
    typed: string,
    locale: string,
  ): string | undefined {
    const node = { kind: 'input', name: 'x', label: 'x', type: input } as const
    const needs = fieldTypeEntries[type].needs
    const rule: FieldRule = {
      ...{ name: 'x', storage: 'tasks', type, required: false, defaultValue: undefined },
      limits: needs === undefined ? {} : { [needs]: limits[needs] },
    }
    const messages = messagesFor(locale)
    const read = readInput(inputWithRules(node, rule), [typed], {
      messages,
      timeZone: 'UTC',
      spend: patternBudget(),
    })
    return 'error' in read ? read.error : undefined
  }

  test.each(fieldTypes)('%s', (type) => {
    const [typed, message] = said[type] ?? ['x']
    // A text in one line has none of the breaks that a browser may send.
    for (const input of ['text', 'area'] as const) expect(errorOf(type, input, typed, 'en')).toBe(message)
    if (message !== undefined) expect(errorOf(type, 'area', typed, 'de')).not.toBe(message)
  })

  test('an option is asked for by none but choices', () => {
    const asking = Object.entries(said).filter(([, one]) => one?.[1] === 'Choose one of the options.')
    expect(asking.map(([type]) => type)).toEqual(['choice', 'choices'])
  })
})
