/** Turns and waits of a run, by a clock that the test moves. */
import { expect, test } from 'vitest'
import type { Frame, Step } from '../compile/frame.ts'
import { RunSteps } from './run-steps.ts'

const frame = { run: {}, slots: [] } as unknown as Frame
const limits = { deadline: 30_000, budget: 1_000_000, depth: 8 }

function stepsBy(): { readonly steps: RunSteps; readonly pass: (milliseconds: number) => void } {
  let now = 0
  const steps = new RunSteps(() => now, limits)
  return {
    steps,
    pass(milliseconds) {
      now += milliseconds
    },
  }
}

test('a run that evaluates for more than 2 s without a pause is stopped', () => {
  const { steps, pass } = stepsBy()
  pass(2_001)
  expect(() => steps.breathe()).toThrow('without a pause')
})

test('many small costs of one expression are as one large one', () => {
  const { steps, pass } = stepsBy()
  pass(2_001)
  expect(() => {
    for (let element = 0; element < 300; element += 1) steps.spend(1)
  }).toThrow('without a pause')
})

test('a run whose first block waits for 3 s goes on, as a body of each over a locked document does', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(3_000)
    return undefined
  }
  await steps.drive(waits, frame)
  await steps.breathe()
  pass(2_001)
  expect(() => steps.breathe()).toThrow('without a pause')
})

test('a loop whose blocks wait for nothing rests all the same', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(1)
    return undefined
  }
  let rests = 0
  for (let turn = 0; turn < 100; turn += 1) {
    await steps.drive(waits, frame)
    const rest = steps.breathe()
    if (rest) rests += 1
    await rest
  }
  expect(rests).toBeGreaterThan(3)
})

test('a run that waits beyond its deadline is stopped', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(30_000)
    return undefined
  }
  await steps.drive(waits, frame)
  expect(() => steps.breathe()).toThrow('did not end within 30000 ms')
})
