import { expect, test } from 'vitest'
import { prometheusText } from './prometheus-text.ts'

test('help, type and a line for each sample; labels are escaped', () => {
  const text = prometheusText([
    { name: 'none', help: 'No samples.', type: 'gauge', samples: [] },
    {
      name: 'a_total',
      help: 'Counts.',
      type: 'counter',
      samples: [{ value: 3 }, { labels: { a: 'x"y\\z\nw', b: '' }, value: 0.5, suffix: '_sum' }],
    },
  ])
  expect(text).toBe(
    [
      '# HELP none No samples.',
      '# TYPE none gauge',
      '# HELP a_total Counts.',
      '# TYPE a_total counter',
      'a_total 3',
      String.raw`a_total_sum{a="x\"y\\z\nw",b=""} 0.5`,
      '',
    ].join('\n'),
  )
})
