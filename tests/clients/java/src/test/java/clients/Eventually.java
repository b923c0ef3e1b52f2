package clients;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Callable;

/** Waits for what another program does. */
final class Eventually {
  private Eventually() {}

  static void eventually(String what, Callable<Boolean> look) throws Exception {
    for (long end = System.nanoTime() + 30_000_000_000L; !look.call(); Thread.sleep(20)) {
      assertTrue(System.nanoTime() < end, "not within 30 s: " + what);
    }
  }
}
