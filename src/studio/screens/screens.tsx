import { Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { useTabTitle } from '../controls/hooks.ts'
import { ScreenBoundary } from '../controls/screen-boundary.tsx'
import { LoadingScreen } from '../controls/states.tsx'
import { NotFoundScreen } from './not-found-screen.tsx'
import { type Screen, screens } from './screen-registry.ts'
import { HomeScreen } from './start/home-screen.tsx'

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
    <ScreenBoundary key={JSON.stringify(input)}>
      <Suspense fallback={<LoadingScreen />}>
        <Component params={input} />
      </Suspense>
    </ScreenBoundary>
  )
}
