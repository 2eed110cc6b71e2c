import type { SavedInPin } from '../../../shared/blueprint.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { glance } from '../model/runs/glance.ts'
import classes from './expression-pin.module.css'
import { type ExpressionScope, knownValue } from './expression-scope.ts'
import { namesRead } from './parsed-pin.ts'

interface LastValuesProps {
  readonly saved: SavedInPin
  readonly scope: ExpressionScope
  /** What the pin got in the last run that passed the block. */
  readonly got: unknown
}

/** What the expression gave in the last run that passed its block, and what was known of the names in it. */
export function LastValues({ saved, scope, got }: LastValuesProps) {
  const names = namesRead(saved).map((path) => ({ path: path.join('.'), value: knownValue(scope, path) }))
  const known = names.filter(({ value }) => value !== undefined)
  if (got === undefined && known.length === 0) return null
  return (
    <dl className={classes.last} aria-label={propertiesTexts.lastRunValues}>
      {got === undefined ? null : (
        <div className={classes.result}>
          <dt>{propertiesTexts.lastValue}</dt>
          <dd>{glance(got, 40)}</dd>
        </div>
      )}
      {known.map(({ path, value }) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>{glance(value, 40)}</dd>
        </div>
      ))}
    </dl>
  )
}
