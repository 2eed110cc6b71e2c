/** Metrics as Prometheus reads them: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4). */
import type { Labels, Metric } from '../../shared/telemetry.ts'

export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

export function prometheusText(metrics: readonly Metric[]): string {
  let text = ''
  for (const { name, help, type, samples } of metrics) {
    text += `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
    for (const { labels, value, suffix = '' } of samples)
      text += `${name}${suffix}${labels ? labelText(labels) : ''} ${numberText(value)}\n`
  }
  return text
}

function labelText(labels: Labels): string {
  let parts = ''
  for (const name in labels) parts += `${parts === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`
  return parts === '' ? '' : `{${parts}}`
}

/** 5,000 routes are 170,000 labels, of which hardly one has to be changed. */
function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
