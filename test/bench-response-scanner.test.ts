import { expect, test } from 'vitest'
import { responseScanner } from '../bench/response-scanner.ts'

function statusesOf(text: string, cut: number): number[] {
  const statuses: number[] = []
  const scan = responseScanner((status) => statuses.push(status))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += cut) scan(bytes.subarray(at, at + cut))
  return statuses
}

const refused: readonly [string, string][] = [
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['an old protocol', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a chunked reply', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a reply without a length', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nhello'],
  ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`],
]

test.each(refused)('%s is refused', (_name, text) => {
  expect(() => statusesOf(text, 100_000)).toThrow(Error)
})

const understood: readonly [string, string, number[]][] = [
  ['a reply with a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', [200]],
  ['an empty body', 'HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n', [201]],
  ['what never has a body', 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n', [204, 304]],
  [
    'a body that looks like a head',
    'HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\nHTTP/1.1 500 Oh\r\ncontent-length: 1\r\n\r\nHTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\n{}',
    [200, 404],
  ],
  ['several in a row', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na'.repeat(3), [200, 200, 200]],
  ['characters of several bytes', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nÄÖÜ', [200]],
]

test.each(understood)('%s is understood however it is cut', (_name, text, statuses) => {
  for (let cut = 1; cut <= Buffer.byteLength(text); cut++) expect(statusesOf(text, cut)).toEqual(statuses)
})

test('a reply counts only when its last byte is here', () => {
  const text = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'
  expect(statusesOf(text.slice(0, -1), 100)).toEqual([])
})

test('of a reply that is an error the begin of its body is given, and of others nothing', () => {
  const errors: string[] = []
  const scan = responseScanner((_status, error) => errors.push(error))
  scan(
    Buffer.from(
      'HTTP/1.1 503 No\r\ncontent-length: 4\r\n\r\nlostHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}',
    ),
  )
  scan(Buffer.from(`HTTP/1.1 500 No\r\ncontent-length: 999\r\n\r\n${'x'.repeat(999)}`))
  expect(errors).toEqual(['lost', '', 'x'.repeat(300)])
})
