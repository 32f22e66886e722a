import { expect } from 'chai';
import { needsRoot } from '../../harness/system/needs.ts';
import { DebianPackage, enable, install, quietly } from './support/debian-package.ts';

const { describe } = needsRoot('dpkg-deb', 'unshare');

/** What dpkg does with what 0.1 left. That version had all its settings in variables. */
describe('the Debian package over an installation of 0.1', function () {
  this.timeout(60_000);
  let built: DebianPackage;

  before('the package is built', () => {
    built = new DebianPackage();
  });

  after('the package is removed', () => built.remove());

  const variables = '/etc/default/login-relay';
  const empty = 'FRONTEND_ORIGIN=\\nPROVIDER_CLIENT_ID=\\nBASE_URL=\\n#PROVIDER=github\\n';
  const mine = 's,^FRONTEND_ORIGIN=,&https://mine.example,';
  const unit = '/usr/lib/systemd/system/login-relay.service';
  const former = [
    `mkdir -p /former/DEBIAN /former/etc/default /former/etc/login-relay /former$(dirname ${unit})`,
    'chmod 700 /former/etc/login-relay',
    `printf '${empty}' >/former${variables}`,
    `printf '[Install]\\nWantedBy=multi-user.target\\n' >/former${unit}`,
    `echo ${variables} >/former/DEBIAN/conffiles`,
    "printf 'Package: login-relay\\nVersion: 0.1.0-1\\nArchitecture: amd64\\n' >/former/DEBIAN/control",
    "printf 'Maintainer: a <a@b.example>\\nDescription: c\\n' >>/former/DEBIAN/control",
    "printf '#!/bin/sh\\ndeb-systemd-helper update-state login-relay.service\\n' >/former/DEBIAN/postinst",
    'chmod 755 /former/DEBIAN/postinst',
    `dpkg-deb --root-owner-group --build /former /former.deb ${quietly}`,
    `dpkg --no-triggers -i /former.deb ${quietly}`,
    '(umask 077; echo secret >/etc/login-relay/client-secret)',
  ];

  it('keeps to the variables, without a question, and once', () => {
    expect(
      built.inThrowawaySystem(
        ...former,
        `sed -i '${mine}' ${variables}`,
        `cp ${variables} /before`,
        install,
        install,
        `diff /before ${variables} | grep '^[<>] [^#]' || true`,
        'cat /etc/login-relay/client-secret',
        "stat -c '%n %a %U:%G' /etc/login-relay /etc/login-relay/client-secret",
      ),
    ).to.deep.equal([
      '> LOGIN_RELAY_CONFIG=',
      'secret',
      '/etc/login-relay 2750 root:login-relay',
      '/etc/login-relay/client-secret 600 root:root',
    ]);
  });

  it('keeps to variables elsewhere: the service was enabled', () => {
    const added = [install, `grep LOGIN_RELAY_CONFIG=$ ${variables}`];
    expect(built.inThrowawaySystem(...former, enable, ...added)).to.have.lengthOf(1);
  });

  it('uses the configuration file if the variables were never set', () => {
    const { length } = built.inThrowawaySystem(...former, install, `cat ${variables}`);
    expect(length).to.equal(4);
  });
});
