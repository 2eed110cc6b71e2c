import { describe, expect, it } from 'vitest'
import { parseMetrics, quantile } from './metrics.ts'

describe('metrics', () => {
  it('are read with their labels, and what is no sample is left out', () => {
    const text = [
      '# HELP a What it is.',
      'a{method="GET",route="/x \\"y\\" {z}"} 5',
      'b 1.5e-3',
      'c{le="+Inf"} +Inf',
      'broken line here 4',
      '',
    ].join('\n')
    expect(parseMetrics(text)).toEqual([
      { name: 'a', labels: { method: 'GET', route: '/x "y" {z}' }, value: 5 },
      { name: 'b', labels: {}, value: 0.0015 },
      { name: 'c', labels: { le: '+Inf' }, value: Number.POSITIVE_INFINITY },
    ])
  })
})

describe('a quantile', () => {
  const buckets = [
    { le: 1, count: 50 },
    { le: 2, count: 90 },
    { le: Number.POSITIVE_INFINITY, count: 100 },
  ]
  it.each([
    [0.25, 0.5],
    [0.5, 1],
    [0.7, 1.5],
    [0.99, 2],
  ])('%f', (share, value) => {
    expect(quantile(share, buckets)).toBeCloseTo(value)
  })

  it('is unknown without samples', () => {
    expect(quantile(0.5, [])).toBeUndefined()
    expect(quantile(0.5, [{ le: 1, count: 0 }])).toBeUndefined()
  })
})
