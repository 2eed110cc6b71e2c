/**
 * For a process of a test (`--import`): a block that holds the event loop when it gets certain texts, or fails where nothing handles it,
 * because no block of Quoin does.
 */
import block from '../src/blocks/logic/value_default.ts'

const { value: original } = block

const holds: Readonly<Record<string, () => void>> = {
  loop: () => {
    for (;;);
  },
  /** Native code that no other thread can interrupt. */
  native: () => {
    let doubled: unknown = 'x'
    for (let level = 0; level < 60; level++) doubled = [doubled, doubled]
    JSON.stringify(doubled)
  },
  /** Without using the processor, as a disk that does not answer. */
  wait: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500),
  reject: () => void Promise.reject(new Error('no caller waits for this')),
  throw: () =>
    void setImmediate(() => {
      throw new Error('no caller catches this')
    }),
}

Object.assign(block, {
  value(inputs: Parameters<typeof original>[0], context: Parameters<typeof original>[1]) {
    holds[String(inputs.value)]?.()
    return original(inputs, context)
  },
})
