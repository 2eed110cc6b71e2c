/** What is thrown, as it is sent: by its code, else by its status, else as a fault of ours. */
import { expect, test } from 'vitest'
import { QuoinError } from '../../shared/errors.ts'
import { errorAnswer } from './error-answer.ts'

const thrown = (fields: object) => Object.assign(new Error('the secret cause'), fields)
const management = { style: 'management', request: 'r1' } as const
const answered = (error: unknown) => {
  const { error: reported, headers, text } = errorAnswer(error, management)
  return { status: reported.status, headers, body: JSON.parse(text) }
}

test.each<[string, unknown, number, string]>([
  ['a code in the list', thrown({ code: 'EMFILE', statusCode: 500 }), 503, 'UNAVAILABLE'],
  ['the code of a path that is no UTF-8', thrown({ code: 'FST_ERR_BAD_URL' }), 400, 'INVALID_QUERY'],
  ['a status that has a code', thrown({ statusCode: 413 }), 413, 'FILE_TOO_BIG'],
  ['an unknown code with a status', thrown({ code: 'NEW', statusCode: 415 }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['another status of a client', thrown({ statusCode: 400 }), 400, 'INVALID_QUERY'],
  ['the last status of a client', thrown({ statusCode: 499 }), 400, 'INVALID_QUERY'],
  ['a status of a server', thrown({ statusCode: 500 }), 500, 'INTERNAL'],
  ['a success', thrown({ statusCode: 399 }), 500, 'INTERNAL'],
  ['a code that is no text', thrown({ code: 5, statusCode: '404' }), 500, 'INTERNAL'],
  ['nothing', null, 500, 'INTERNAL'],
  ['a text', 'the secret cause', 500, 'INTERNAL'],
])('%s is sent as its status and code, without the cause', (_what, error, status, code) => {
  const reply = answered(error)
  expect([reply.status, reply.body.code, reply.body.error]).toEqual([status, status, code])
  expect(JSON.stringify(reply)).not.toContain('the secret cause')
})

test.each<[string, QuoinError, object]>([
  ['503 says when to try again', new QuoinError('UNAVAILABLE', 'Later.'), { 'retry-after': '1' }],
  [
    'or when it knows better',
    new QuoinError('UNAVAILABLE', 'Later.', { retryAfter: 9 }),
    { 'retry-after': '9' },
  ],
  [
    '401 names what is asked for',
    new QuoinError('INVALID_ACCESS_TOKEN', 'None.'),
    { 'www-authenticate': 'Bearer' },
  ],
  ['any other has neither', new QuoinError('CONFLICT', 'Taken.'), {}],
])('%s', (_what, error, headers) => {
  expect(answered(error).headers).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
  })
})

test('details and problems are for programs, those of a flow before those of the error', () => {
  const details = { total: 2 }
  expect(answered(new QuoinError('CONFLICT', 'Taken.', { details })).body).toMatchObject({ details })
  const flow = { status: 418, code: 'TEAPOT', details: { kind: 'tea' } }
  expect(answered(new QuoinError('FLOW_FAILED', 'No.', { details, flow })).body).toEqual({
    ...{ error: 'FLOW_FAILED', code: 418, message: 'No.', details: { kind: 'tea' } },
  })
  const problems = [{ block: 'b', message: 'It is not wired.' }]
  expect(answered(new QuoinError('VALIDATION_FAILED', 'No.', { problems })).body).toMatchObject({ problems })
})

test('only a fault of ours has the id of its request', () => {
  expect(answered(new Error('x')).body.request).toBe('r1')
  expect(answered(new QuoinError('CONFLICT', 'Taken.', { fields: ['sku'] })).body).toEqual({
    ...{ error: 'CONFLICT', code: 409, message: 'Taken.', fields: ['sku'] },
  })
})
