import { ActionIcon, Tooltip } from '@mantine/core'
import { propertiesTexts } from '../../texts/properties.ts'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import classes from './properties.module.css'

/** Whether runs pause before the block. */
export function BreakpointSwitch({ guid }: { readonly guid: string }) {
  const breakpoints = useBreakpoints()
  const isSet = breakpoints.at.has(guid)
  return (
    <Tooltip label={isSet ? propertiesTexts.removeBreakpoint : propertiesTexts.setBreakpoint}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={propertiesTexts.breakpoint}
        aria-pressed={isSet}
        onClick={() => breakpoints.toggle(guid)}
      >
        <span className={classes.breakpoint} data-set={isSet || undefined} />
      </ActionIcon>
    </Tooltip>
  )
}
