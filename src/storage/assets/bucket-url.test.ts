import { expect, it } from 'vitest'
import { parseBucketUrl } from './bucket-url.ts'

it.each([
  ['', 'must be s3://'],
  ['assets', 'must be s3://'],
  ['https://bucket.s3.amazonaws.com/', 'must be s3://'],
  ['s3://', 'names no bucket'],
  ['s3:///prefix', 'names no bucket'],
  ['s3://ab', 'names no bucket'],
  ['s3://Assets_1/', 'names no bucket'],
  ['s3://bucket:9000/', 'names no bucket'],
  ['s3://KEY:SECRET@bucket/', 'must not hold credentials'],
  ['s3://bucket/a//b', 'a prefix that cannot be'],
  ['s3://bucket/a%2Fb', 'a prefix that cannot be'],
  [`s3://bucket/${'a'.repeat(201)}`, 'a prefix that cannot be'],
  ['s3://bucket/#top', 'must not hold #'],
  ['s3://bucket/?secret=SECRET', 'neither endpoint nor region'],
  ['s3://bucket/?region=a&region=b', 'more than one region'],
  ['s3://bucket/?region=eu/../', 'a region that is none'],
  ['s3://bucket/?endpoint=minio:9000', 'no http:// or https://'],
  ['s3://bucket/?endpoint=http://KEY:SECRET@minio', 'credentials in its endpoint'],
  ['s3://bucket/?endpoint=http://minio/%3Fx=SECRET', 'an endpoint with ? or #'],
])('refuses %s', (text, words) => {
  let message = ''
  try {
    parseBucketUrl(text)
  } catch (error) {
    if (error instanceof Error) message = error.message
  }
  expect(message).toContain(words)
  expect(message).not.toContain('SECRET=')
  expect(message).not.toMatch(/SECRET(?!_ACCESS_KEY)/)
})

it.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', endpoint: undefined, region: undefined }],
  ['s3://my.bucket-1/', { bucket: 'my.bucket-1', prefix: '', endpoint: undefined, region: undefined }],
  ['s3://bucket/a/B_c.d/?region=eu-central-1', { prefix: 'a/B_c.d/', region: 'eu-central-1' }],
  ['s3://bucket/../a', { prefix: 'a/' }],
  [
    's3://bucket/?endpoint=http://127.0.0.1:9000',
    { endpoint: 'http://127.0.0.1:9000/', region: 'us-east-1' },
  ],
  [
    's3://bucket/?endpoint=https%3A%2F%2Fs3.example.org%2Fpath&region=local',
    { endpoint: 'https://s3.example.org/path', region: 'local' },
  ],
])('reads %s', (text, address) => {
  expect(parseBucketUrl(text)).toMatchObject(address)
})
