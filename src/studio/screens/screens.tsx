import { Alert, Anchor, Button, Code, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Component, type ReactNode, Suspense, useEffect } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { ApiError, isPartMissing } from '../api/api-error.ts'
import { shareWithPages } from '../api/page-session.ts'
import { search } from '../api/request.ts'
import { useScreenCount, useTabTitle } from '../controls/hooks.ts'
import { LoadingScreen } from '../controls/states.tsx'
import { controlsTexts, screensTexts } from '../texts/shell.ts'
import { startTexts } from '../texts/start.ts'
import { type Screen, screens } from './screen-registry.ts'

/** The screen of the address. One that breaks says so in its place, and the navigation stays usable. */
export function Screens() {
  return (
    <Switch>
      <Route path="/">
        <HomeScreen />
      </Route>
      {screens.map((screen) => (
        <Route key={screen.path} path={screen.path}>
          {(params) => <ScreenInPlace screen={screen} params={params} />}
        </Route>
      ))}
      <Route>
        <NotFoundScreen />
      </Route>
    </Switch>
  )
}

function ScreenInPlace({ screen, params }: { screen: Screen; params: Record<string, string | undefined> }) {
  useTabTitle(screen.title)
  const input: Record<string, string> = {}
  for (const [name, value] of Object.entries(params)) if (value !== undefined) input[name] = value
  const Component = screen.component
  return (
    <ScreenBoundary key={useScreenCount()}>
      <Suspense fallback={<LoadingScreen />}>
        <Component params={input} />
      </Suspense>
    </ScreenBoundary>
  )
}

function NotFoundScreen() {
  return (
    <Stack gap="xs" py="xl">
      <Title order={1}>{screensTexts.pageNotFound}</Title>
      <Text c="dimmed">{screensTexts.pageNotFoundText}</Text>
      <Anchor component={Link} href="/blueprints">
        {screensTexts.toTheBlueprints}
      </Anchor>
    </Stack>
  )
}

/**
 * Where one arrives: at the first steps while the cluster has no more than the example, else at the blueprints. Who may not see them is led to
 * the first screen that shows something, or to the pages of applications.
 */
function HomeScreen() {
  const { data } = useQuery({
    queryKey: ['blueprints', startTexts.howMany],
    queryFn: ({ signal }) => firstPlace(signal),
    retry: false,
  })
  useEffect(() => {
    if (data === PAGES) location.replace(PAGES)
  }, [data])
  if (data === undefined || data === PAGES) return <LoadingScreen />
  return <Redirect to={data} replace />
}

/** Outside of the studio: what waits for its visitor, and the pages that are open to them. */
const PAGES = '/'

/** Lists that a scope opens, by the screen that begins with them. */
const lists: Readonly<Record<string, string>> = {
  '/data': '/_system/storages/search',
  '/assets': '/_system/assets/search',
  '/operate/queues': '/queue/search',
  '/people': '/users/search',
}

async function firstPlace(signal: AbortSignal): Promise<string> {
  const count = async (path: string) => (await search(path, { limit: 0 }, signal)).total
  try {
    return (await count('/blueprints/search')) <= 1 ? '/welcome' : '/blueprints'
  } catch (error) {
    if (!isForbidden(error)) return '/blueprints'
  }
  for (const [place, list] of Object.entries(lists))
    try {
      await count(list)
      return place
    } catch (error) {
      if (!isForbidden(error)) return place
    }
  return (await shareWithPages(false)) ? PAGES : '/account'
}

function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403
}

interface State {
  readonly error: Error | undefined
}

/** Keeps a screen that broke to itself. React has error boundaries only as classes. */
class ScreenBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidCatch(error: unknown): void {
    reportError(error)
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Alert color="red" title={controlsTexts.screenFailed}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            {isPartMissing(error) ? controlsTexts.updatedMeanwhile : controlsTexts.studioFault}
          </Text>
          <Code block>{error.message}</Code>
          <Button size="xs" onClick={() => location.reload()}>
            {controlsTexts.reload}
          </Button>
        </Stack>
      </Alert>
    )
  }
}
