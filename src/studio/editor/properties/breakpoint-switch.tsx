import { ActionIcon, Tooltip } from '@mantine/core'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import classes from './properties.module.css'

/** Whether runs pause before the block. */
export function BreakpointSwitch({ guid }: { readonly guid: string }) {
  const breakpoints = useBreakpoints()
  const isSet = breakpoints.at.has(guid)
  return (
    <Tooltip label={isSet ? 'Remove breakpoint (B)' : 'Breakpoint: pause runs here (B)'}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Breakpoint"
        aria-pressed={isSet}
        onClick={() => breakpoints.toggle(guid)}
      >
        <span className={classes.breakpoint} data-set={isSet || undefined} />
      </ActionIcon>
    </Tooltip>
  )
}
