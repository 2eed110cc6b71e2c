import { expect, test } from 'vitest'
import { boundedQueue, oneAtATime } from './cooperative.ts'

const refusal = 'Too many are at work.'

/** Work that ends when the test says so. */
function controlled() {
  const log: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const work = (name: string) => () => {
    log.push(name)
    return new Promise<string>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve(name)))
    })
  }
  return { log, work, end: (name: string, error?: Error) => ends.get(name)?.(error) }
}

test('runs so many at once, then the others in the order they came', async () => {
  const { log, work, end } = controlled()
  const queue = boundedQueue({ atOnce: 2, waiting: 2, retryAfter: 3, refusal })
  const results = ['a', 'b', 'c', 'd'].map((name) => queue(work(name)))
  expect(log).toEqual(['a', 'b'])
  end('b')
  await results[1]
  expect(log).toEqual(['a', 'b', 'c'])
  end('a')
  await results[0]
  expect(log).toEqual(['a', 'b', 'c', 'd'])
  end('c')
  end('d')
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd'])
})

test('refuses when too many wait, without running the work, and takes more when there is room', async () => {
  const { log, work, end } = controlled()
  const queue = boundedQueue({ atOnce: 1, waiting: 1, retryAfter: 3, refusal })
  const first = queue(work('first'))
  const second = queue(work('second'))
  await expect(queue(work('third'))).rejects.toMatchObject({
    ...{ code: 'UNAVAILABLE', retryAfter: 3, message: refusal },
  })
  end('first')
  await first
  const fourth = queue(work('fourth'))
  end('second')
  await second
  end('fourth')
  await fourth
  expect(log).toEqual(['first', 'second', 'fourth'])
})

test('work that fails gives its place on', async () => {
  const { log, work, end } = controlled()
  const queue = boundedQueue({ atOnce: 1, waiting: 1, retryAfter: 3, refusal })
  const failing = queue(work('failing'))
  const next = queue(work('next'))
  end('failing', new Error('broken'))
  await expect(failing).rejects.toThrow('broken')
  expect(log).toEqual(['failing', 'next'])
  end('next')
  expect(await next).toBe('next')
})

test('work with one key waits for the work before it, also when that fails, and for no other key', async () => {
  const alone = oneAtATime()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = alone('a', async () => {
    await gate.promise
    seen.push('first')
    throw new Error('as planned')
  })
  const second = alone('a', async () => {
    seen.push('second')
    return 2
  })
  expect(await alone('b', async () => 'b')).toBe('b')
  expect(seen).toEqual([])
  gate.resolve()
  await expect(first).rejects.toThrow('as planned')
  expect(await second).toBe(2)
  expect(seen).toEqual(['first', 'second'])
})
