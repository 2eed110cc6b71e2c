import { expect, test } from 'vitest'
import { defineTrigger, defineValue } from './block.ts'
import { describeBlock } from './describe-block.ts'

const value = defineValue({
  identifier: 'value_double',
  aliases: ['double'],
  title: 'Double',
  summary: 'Doubles a number.',
  in: { number: { type: 'number', help: 'What to double.', default: 1 } },
  out: { number: { type: 'number', help: 'The double.' } },
  settings: { times: { kind: 'number', help: 'How often.', default: 1 } },
  moreIn: () => ({}),
  value: ({ number }) => ({ number: number * 2 }),
})

const trigger = defineTrigger({
  identifier: 'trigger_test',
  title: 'Test',
  summary: 'Starts.',
  on: 'function',
  in: {},
  out: {},
  settings: {},
  listen: () => ({ description: '', name: 'test', parameters: [] }),
  start: () => ({}),
})

test('a description is plain JSON and says everything but the code', () => {
  const description = describeBlock(value, 'logic')
  expect(JSON.parse(JSON.stringify(description))).toEqual(description)
  expect(description).toEqual({
    identifier: 'value_double',
    aliases: ['double'],
    group: 'logic',
    kind: 'value',
    on: null,
    title: 'Double',
    summary: 'Doubles a number.',
    in: { number: { type: 'number', help: 'What to double.', default: 1 } },
    out: { number: { type: 'number', help: 'The double.' } },
    settings: { times: { kind: 'number', help: 'How often.', default: 1 } },
    more_in: true,
    more_out: false,
    adds: { in: {}, out: {}, custom_out: false },
  })
})

test('a trigger says what it listens to and shows its flow pin', () => {
  const description = describeBlock(trigger, 'logic')
  expect(description.on).toBe('function')
  expect(Object.keys(description.out)).toEqual(['flow'])
})
