import { expect, test } from 'vitest'
import { releasers } from './releasers.ts'

test('released last first, all of them, and the first error is thrown', async () => {
  const seen: string[] = []
  const opened = releasers()
  opened.add(() => void seen.push('first'))
  opened.add(() => {
    seen.push('second')
    throw new Error('second failed')
  })
  opened.add(async () => {
    seen.push('third')
    throw new Error('third failed')
  })
  await expect(opened.release()).rejects.toThrow('third failed')
  expect(seen).toEqual(['third', 'second', 'first'])
  await opened.release()
  expect(seen).toHaveLength(3)
})
