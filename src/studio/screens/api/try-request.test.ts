import { describe, expect, it } from 'vitest'
import { curlOf, tryAddress } from './try-request.ts'

describe('the address of a try', () => {
  it.each([
    ['/a/{guid}', { 'path guid': 'x/y z' }, '/a/x%2Fy%20z'],
    ['/a/{guid}', {}, '/a/'],
    ['/a', { 'query limit': '5', 'query empty': '', 'header x': '1' }, '/a?limit=5'],
    ['/a', { 'query q': 'a&b' }, '/a?q=a%26b'],
  ])('%s with %j is %s', (path, values, expected) => {
    expect(tryAddress({ path, values })).toBe(expected)
  })
})

describe('the same for a terminal', () => {
  it('quotes what a shell would read, and never holds a token', () => {
    const request = {
      method: 'POST',
      path: '/a',
      values: { 'header x-key': "it's" },
      body: '{"a":"it\'s"}',
      asMyself: true,
    }
    expect(curlOf(request, 'http://h')).toBe(
      [
        "curl -X POST 'http://h/a'",
        '-H "authorization: Bearer $TOKEN"',
        "-H 'content-type: application/json'",
        "-H 'x-key: it'\\''s'",
        `-d '{"a":"it'\\''s"}'`,
      ].join(' \\\n  '),
    )
  })
})
