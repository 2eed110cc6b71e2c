import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PinError } from './block.ts'
import { endpointUri } from './endpoint-uri.ts'

const between = 'must have something between its slashes, and none at the end'

test.each([
  ['', 'is empty'],
  [' / ', 'is empty'],
  ['//tasks', between],
  ['tasks/', between],
  ['tasks//open', between],
  ['../etc', 'may not have the segment ..'],
  ['tasks/./x', 'may not have the segment .'],
  ['api/v1/tasks', 'must be what follows /api/v1/, such as tasks or tasks/{guid}'],
  ['/API/v1', 'must be what follows /api/v1/, such as tasks or tasks/{guid}'],
  ['tasks/{guid}/{guid}', 'has the parameter guid twice'],
  ['tasks/:guid/{guid}', 'has the parameter guid twice'],
  ['files/{path...}/x', 'must end with {path...}, which takes all that is left'],
  ['x/{__proto__}', 'may not have a parameter named __proto__'],
  ['a'.repeat(513), 'must be at most 512 characters long'],
])('%j: %s', (written, message) => {
  expect(() => endpointUri(written)).toThrow(new PinError('uri', message))
})

test.each([
  'a b',
  'täglich',
  'a%2fb',
  'a?b',
  'a#b',
  'a*',
  '{a}.json',
  'x{a}',
  '{}',
  '{a-b}',
  ':',
  ':1a',
  '{a..}',
  'a\\b',
  'a\nb',
])('the segment %j is refused', (segment) => {
  expect(() => endpointUri(`tasks/${segment}`)).toThrow(`has the segment ${JSON.stringify(segment)}`)
})

test.each([
  ['tasks', 'tasks'],
  ['/tasks', 'tasks'],
  [' tasks ', 'tasks'],
  ['tasks/{guid}', 'tasks/{guid}'],
  ['tasks/:guid', 'tasks/{guid}'],
  ['files/{path...}', 'files/{path...}'],
  ['{all...}', '{all...}'],
  ['a/:b/c/{d}/e', 'a/{b}/c/{d}/e'],
  ['v2.0/my_tasks-x~', 'v2.0/my_tasks-x~'],
  ['apis/v1', 'apis/v1'],
  ['a'.repeat(512), 'a'.repeat(512)],
])('%j is written %j', (written, uri) => {
  expect(endpointUri(written)).toBe(uri)
})

test('the one spelling is its own spelling, whatever was written', () => {
  const segment = fc.oneof(
    fc.stringMatching(/^[a-z0-9._~-]{1,5}$/),
    fc.constantFrom(':a', '{b}', '{c...}'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
      try {
        const uri = endpointUri(segments.join('/'))
        return endpointUri(uri) === uri && !uri.split('/').includes('..')
      } catch (error) {
        return error instanceof PinError && error.pin === 'uri'
      }
    }),
  )
})
