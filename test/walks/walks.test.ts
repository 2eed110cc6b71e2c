import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('a request, a created document and an event execute no more files than before', async () => {
  const walks = join(import.meta.dirname, 'walks.ts')
  const ended = await new Promise<{ failed: boolean; stdout: string }>((resolve) =>
    execFile(process.execPath, [walks, '--node'], (error, stdout) =>
      resolve({ failed: error !== null, stdout }),
    ),
  )
  expect(ended.failed, ended.stdout).toBe(false)
  expect(ended.stdout.match(/^ +[1-9][0-9]* of at most [1-9]/gm)).toHaveLength(3)
})
